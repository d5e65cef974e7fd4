/** The addresses of the pages. Everything that can be looked at has one. */
import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  useRouterState,
} from '@tanstack/react-router'
import { textsIn } from './data/address.ts'
import { Now } from './pages/now.tsx'
import { SignIn } from './pages/sign-in.tsx'
import { ErrorBox } from './parts/base.tsx'
import { Frame } from './parts/frame.tsx'

function Root() {
  const path = useRouterState({ select: (state) => state.location.pathname })
  if (path === '/sign-in') return <SignIn />
  return (
    <Frame>
      <Outlet />
    </Frame>
  )
}

const root = createRootRoute({
  component: Root,
  errorComponent: ({ error }) => (
    <div className="p-6">
      <ErrorBox error={error} retry={() => location.reload()} />
    </div>
  ),
  notFoundComponent: () => (
    <div className="p-6">
      <h1 className="text-title font-semibold">There is no such page.</h1>
      <p className="mt-2">
        <a href="/" className="text-accent underline">
          Go to Now
        </a>
      </p>
    </div>
  ),
})

/** `filters` are the parts of the query that the page uses. */
const page = <Path extends string>(
  path: Path,
  load: () => Promise<Record<string, unknown>>,
  name: string,
  ...filters: readonly string[]
) =>
  createRoute({
    getParentRoute: () => root,
    path,
    validateSearch: textsIn(...filters),
    component: lazyRouteComponent(load as () => Promise<Record<string, never>>, name as never),
  })

const routes = [
  createRoute({ getParentRoute: () => root, path: '/', component: Now }),
  createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignIn }),
  page('/runs/$id', () => import('./pages/run.tsx'), 'RunPage', 'view'),
  page('/conversations', () => import('./pages/conversations.tsx'), 'Conversations', 'q'),
  page('/conversations/$id', () => import('./pages/conversation.tsx'), 'ConversationPage'),
  page('/jobs', () => import('./pages/jobs.tsx'), 'Jobs', 'state', 'q', 'sort'),
  page('/jobs/$id', () => import('./pages/job.tsx'), 'JobPage', 'view'),
  page('/watches', () => import('./pages/watches.tsx'), 'Watches'),
  page('/watches/$id', () => import('./pages/watch.tsx'), 'WatchPage'),
  page('/cycles/$id', () => import('./pages/cycle.tsx'), 'CyclePage'),
  page('/sessions', () => import('./pages/sessions.tsx'), 'Sessions', 'q', 'status'),
  page('/sessions/$id', () => import('./pages/session.tsx'), 'SessionPage'),
  page('/costs', () => import('./pages/costs.tsx'), 'Costs', 'days', 'show'),
  page('/machine', () => import('./pages/machine.tsx'), 'Machine'),
]

export const router = createRouter({
  routeTree: root.addChildren(routes),
  defaultPreload: 'intent',
  scrollRestoration: true,
})

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router
  }
}
