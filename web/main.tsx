/** The entry of the dashboard. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { RouterProvider } from '@tanstack/react-router'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { isCode } from './data/client.ts'
import { applyTheme } from './data/theme.ts'
import { router } from './router.tsx'
import './styles.css'

applyTheme()

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      // Changes arrive over the change feed; nothing else makes data old.
      staleTime: Number.POSITIVE_INFINITY,
      refetchOnWindowFocus: false,
      refetchOnReconnect: true,
      retry: (failures, error) => isCode(error, 'daemon-unreachable') && failures < 2,
    },
  },
})

const root = document.getElementById('root')
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queries}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  )
}
