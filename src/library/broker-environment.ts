/**
 * The environment of programs that the broker runs for an agent: the user's own, because their credentials may be in it, but without
 * what is for Reprise and for agents.
 *
 * Programs that start containers give a container any variable that they are told the name of, and show what they put into a compose
 * file (`docker compose config`, `docker run -e NAME`). So they get only variables that they need themselves and that are no secrets.
 */
import { commonEnvironment } from '../agents/environment.ts'

type Variables = Readonly<Record<string, string | undefined>>

const STARTS_CONTAINERS = /^(docker|docker-compose|podman|podman-compose|podman-remote|nerdctl)$/

const FOR_CONTAINERS = new RegExp(
  `^(${[
    'DOCKER_(HOST|CONTEXT|CONFIG|CERT_PATH|TLS|TLS_VERIFY|API_VERSION|BUILDKIT|DEFAULT_PLATFORM)',
    'DOCKER_CONTENT_TRUST(_SERVER)?',
    '(COMPOSE|BUILDX|BUILDKIT|CONTAINERS|CONTAINERD|NERDCTL)_\\w+',
    'CONTAINER_(HOST|SSHKEY|CONNECTION)',
    'REGISTRY_AUTH_FILE',
    'DBUS_SESSION_BUS_ADDRESS',
  ].join('|')})$`,
)

/** Returns the environment by the name of the program. */
export function brokerEnvironment(env: Variables): (program: string) => Record<string, string> {
  const users = pick(env, (name) => !/^(REPRISE|ANTHROPIC|CLAUDE)/.test(name))
  const shown = { ...commonEnvironment(users), ...pick(users, (name) => FOR_CONTAINERS.test(name)) }
  return (program) => (STARTS_CONTAINERS.test(program) ? shown : users)
}

const pick = (env: Variables, passes: (name: string) => boolean): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).flatMap(([name, value]) =>
      value !== undefined && passes(name) ? [[name, value]] : [],
    ),
  )
