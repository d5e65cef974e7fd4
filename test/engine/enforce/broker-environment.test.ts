import { expect, test } from 'vitest'
import { brokerEnvironment } from '../../../src/library/broker-environment.ts'

const USERS = {
  PATH: '/bin',
  HOME: '/home/dev',
  LC_ALL: 'C',
  DOCKER_HOST: 'ssh://host',
  COMPOSE_PROJECT_NAME: 'x',
  DOCKER_AUTH_CONFIG: 'secret',
  DOCKER_CONTENT_TRUST: '1',
  DOCKER_CONTENT_TRUST_ROOT_PASSPHRASE: 'secret',
  GITHUB_TOKEN: 'secret',
  AWS_SECRET_ACCESS_KEY: 'secret',
}
const envOf = brokerEnvironment({
  ...USERS,
  REPRISE_HOME: '/x',
  ANTHROPIC_API_KEY: 'secret',
  CLAUDE_CONFIG_DIR: '/y',
  UNSET: undefined,
})

test('programs have the variables of the user, without those for Reprise and for agents', () => {
  for (const program of ['gh', 'kubectl', 'git', 'made-up']) expect(envOf(program)).toEqual(USERS)
})

test('programs that show variables or give them to containers have none that may be secret', () => {
  for (const program of ['docker', 'docker-compose', 'podman', 'podman-compose', 'podman-remote', 'nerdctl'])
    expect(envOf(program)).toEqual({
      PATH: '/bin',
      HOME: '/home/dev',
      LC_ALL: 'C',
      DOCKER_HOST: 'ssh://host',
      COMPOSE_PROJECT_NAME: 'x',
      DOCKER_CONTENT_TRUST: '1',
    })
})
