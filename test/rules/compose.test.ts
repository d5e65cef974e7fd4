import { describe, expect, test } from 'vitest'
import { type Asked, ask, CWD, verdict } from './world.ts'

const SERVICE = 'services: { web: { image: nginx } }'
/** A compose file of the agent's own, whose service has this. */
const own = (service: string, rest = ''): Asked => ({
  files: { [`${CWD}/compose.yaml`]: `services:\n  web:\n    image: nginx\n    ${service}\n${rest}` },
})

describe('where only some commands are allowed, the agent must not be able to write the file', () => {
  const theirs = { '/srv/app/compose.yaml': SERVICE, '/srv/app/docker-compose.override.yml': '' }
  test.each([
    ['docker compose up -d web', { cwd: '/srv/app', files: theirs }, 'allow'],
    ['docker-compose up -d web', { cwd: '/srv/app', files: theirs }, 'allow'],
    ['docker compose up -d web', { cwd: '/srv/app/sub', files: theirs }, 'allow'],
    ['docker compose -f /srv/app/compose.yaml up -d web', { cwd: '/srv', files: theirs }, 'allow'],
    ['docker compose -f /srv/app/compose.yaml up -d web', { files: theirs }, 'allow'],
    ['docker compose -f /srv/app/compose.yaml --env-file /srv/app/env up -d web', { files: theirs }, 'allow'],
    ['docker compose --project-directory /srv/app up -d web', { cwd: '/srv', files: theirs }, 'allow'],
    ['docker compose up -d web', { files: { [`${CWD}/compose.yaml`]: SERVICE } }, 'agent-written'],
    ['docker compose up -d web', { files: { '/work/compose.yaml': SERVICE } }, 'agent-written'],
    ['docker compose -f mine.yml up -d web', { cwd: '/srv/app', files: theirs }, 'allow'],
    ['docker compose -f /tmp/mine.yml up -d web', { cwd: '/srv/app', files: theirs }, 'agent-written'],
    ['docker compose -f/tmp/mine.yml up -d web', { cwd: '/srv/app', files: theirs }, 'agent-written'],
    ['docker compose --file=/tmp/mine.yml up -d web', { cwd: '/srv/app', files: theirs }, 'agent-written'],
    ['docker compose --env-file /tmp/e up -d web', { cwd: '/srv/app', files: theirs }, 'agent-written'],
    [
      'docker compose --project-directory /tmp up -d web',
      { cwd: '/srv/app', files: theirs },
      'agent-written',
    ],
    ['docker compose -f - up -d web', { cwd: '/srv/app', files: theirs }, 'compose'],
    ['docker compose -f https://h/x.git up -d web', { cwd: '/srv/app', files: theirs }, 'compose'],
    ['docker compose up -d', { cwd: '/srv/app', files: theirs }, 'cooldowns.redeploy'],
    ['docker compose restart', { cwd: '/srv/app', files: theirs }, 'cooldowns.restart'],
    ['docker compose up web', { cwd: '/srv/app', files: theirs }, 'docker'],
  ] as [string, Asked, string][])('%s %o: %s', (command, world, expected) => {
    expect(verdict('2', command, world)).toBe(expected)
  })

  test('a link to a file that it cannot write could be replaced', () => {
    const world = { links: { [`${CWD}/link.yml`]: '/srv/app/compose.yaml' }, files: theirs, cwd: '/srv/app' }
    expect(verdict('2', `docker compose -f ${CWD}/link.yml up -d web`, world)).toBe('agent-written')
  })

  test('to every service at once is refused with advice', () => {
    expect(ask('2', 'docker compose up -d', { cwd: '/srv/app', files: theirs })).toMatchObject({
      reason: expect.stringContaining('Name the services.'),
    })
  })
})

describe('a file of the agent at tier 3 is read', () => {
  test.each([
    ['privileged: true', 'privileged'],
    ["privileged: 'true'", 'privileged'],
    ['privileged: ${P}', 'privileged'],
    ['network_mode: host', 'network of the host'],
    ['network_mode: ${N}', 'network of the host'],
    ['pid: host', 'processes of the host'],
    ['ipc: host', 'shared memory'],
    ['uts: host', 'name of the host'],
    ['userns_mode: host', 'users of the host'],
    ['cgroup: host', 'control groups'],
    ['devices: [/dev/sda]', 'devices'],
    ['cap_add: [SYS_ADMIN]', 'cap_add'],
    ['security_opt: [seccomp:unconfined]', 'security option'],
    ['use_api_socket: true', 'socket of docker'],
    ['provider: { type: x }', 'provider'],
    ['volumes: ["/:/host:ro"]', 'whole file system'],
    ['volumes: ["~/.ssh:/x"]', 'which is hidden'],
    ['volumes: ["../../home/dev/.ssh:/x"]', 'hidden'],
    ['volumes: ["${HOME}/.ssh:/x"]', 'cannot be known'],
    ['volumes: ["/var/run/docker.sock:/s"]', 'mounts the socket'],
    ['volumes: [{ type: bind, source: /home/dev/.ssh, target: /x }]', 'hidden'],
    ['volumes: [{ type: bind, source: ../../home/dev, target: /x }]', 'something is hidden'],
    ['volumes: ["/usr/local:/x"]', 'belongs to the system'],
    ['volumes: ["/volumes:/x"]', 'protected'],
    ['env_file: ~/.netrc', 'hidden'],
    ['env_file: [{ path: /home/dev/.netrc }]', 'hidden'],
    ['extends: { file: other.yaml, service: x }', 'extends a service of another file'],
    ['build: { context: /home/dev }', 'hidden'],
    ['build: { context: ., network: host }', 'network of the host'],
    ['build: { context: ., ssh: [default] }', 'ssh agent'],
    ['build: { context: ., additional_contexts: { x: /home/dev/.ssh } }', 'hidden'],
    ['build: { context: ., dockerfile: ../../home/dev/.netrc }', 'hidden'],
    ['develop: { watch: [{ action: sync, path: /home/dev, target: /x }] }', 'hidden'],
    ['build: { context: ., made_up: 1 }', 'made_up, which is not checked'],
    ['post_start: [{ command: x, privileged: true }]', 'privileged'],
    ['made_up: 1', 'has made_up, which is not checked'],
    ['<<: { privileged: true }', 'privileged'],
    ['privileged: !x yes', 'privileged'],
    ['privileged: false\n    privileged: true', 'cannot be read as YAML'],
  ])('%s', (service, why) => {
    expect(ask('3', 'docker compose up -d web', own(service))).toMatchObject({
      decision: 'deny',
      rule: 'compose',
      reason: expect.stringContaining(why),
    })
  })

  test.each([
    ['include: [other.yaml]', 'includes other files'],
    ['volumes: { x: { driver_opts: { type: none, o: bind, device: /home/dev/.ssh } } }', 'hidden'],
    [
      'volumes: { x: { driver_opts: { type: overlay, o: "lowerdir=/home/dev/.ssh,upperdir=/a" } } }',
      'hidden',
    ],
    ['volumes: { x: { driver_opts: { type: overlay, o: "lowerdir=${X}" } } }', 'cannot be known'],
    ['networks: { x: { external: true, name: host } }', 'network x may be that of the host'],
    ['secrets: { x: { file: /home/dev/.ssh/id } }', 'hidden'],
    ['configs: { x: { file: ~/.netrc } }', 'hidden'],
    [
      'a: &a [1,1,1,1,1,1,1,1,1]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]',
      'too many aliases',
    ],
    ['a: [', 'cannot be read as YAML'],
    ['---\nservices: { web: { privileged: true } }', 'cannot be read as YAML'],
  ])('beside the services: %s', (rest, why) => {
    expect(ask('3', 'docker compose up -d web', own('', rest))).toMatchObject({
      rule: 'compose',
      reason: expect.stringContaining(why),
    })
  })

  test.each([
    'restart: always',
    'volumes: [data:/data, "./conf:/etc/nginx:ro", "/srv/media:/media"]',
    'security_opt: ["no-new-privileges:true"]',
    'environment: { A: "${B}" }',
    'privileged: false',
    'env_file: .env.web',
    'build: .',
    'x-note: { privileged: true }',
  ])('and may be used: %s', (service) => {
    expect(verdict('3', 'docker compose up -d web', own(service))).toBe('allow')
  })

  test.each([
    ['.env', 'COMPOSE_FILE=/tmp/other.yml'],
    ['.env', 'A=1\n  export DOCKER_HOST=tcp://evil'],
  ])('%s may not change what is read: %s', (name, text) => {
    const world = { files: { [`${CWD}/compose.yaml`]: SERVICE, [`${CWD}/${name}`]: text } }
    expect(verdict('3', 'docker compose up -d web', world)).toBe('compose')
  })

  test('a file of others is not judged', () => {
    const files = { '/srv/app/compose.yaml': 'services: { web: { privileged: true } }' }
    expect(verdict('3', 'docker compose up -d web', { cwd: '/srv/app', files })).toBe('allow')
  })

  test('looking reads it too, so that it shows nothing hidden', () => {
    expect(verdict('1', 'docker compose config', own('env_file: ~/.netrc'))).toBe('compose')
    expect(verdict('1', 'docker compose logs web', own('', 'secrets: { x: { file: ~/.netrc } }'))).toBe(
      'compose',
    )
    expect(verdict('1', 'docker compose ps', own('provider: { type: x }'))).toBe('compose')
    expect(verdict('1', 'docker compose ps', own('privileged: true', 'networks: { host: {} }'))).toBe('looks')
  })
})

describe('what was judged is what is used', () => {
  const files = {
    [`${CWD}/compose.yaml`]: SERVICE,
    [`${CWD}/compose.override.yml`]: 'services: {}',
    [`${CWD}/.env`]: 'A=1',
  }
  const run = (command: string) => {
    const decision = ask('3', command, { files })
    if (decision.decision === 'deny') throw new Error(decision.reason)
    return {
      args: decision.args.join(' '),
      copies: decision.copies.map((copy) => [decision.args[copy.index], 'text' in copy ? copy.text : copy]),
    }
  }

  test('files that were found are named, and copied', () => {
    expect(run('docker --context x compose -p p up -d web')).toEqual({
      args: `--context x compose --project-directory ${CWD} --env-file ${CWD}/.env --file ${CWD}/compose.yaml --file ${CWD}/compose.override.yml -p p up -d web`,
      copies: [
        [`${CWD}/.env`, 'A=1'],
        [`${CWD}/compose.yaml`, SERVICE],
        [`${CWD}/compose.override.yml`, 'services: {}'],
      ],
    })
  })

  test('files that were named are replaced', () => {
    expect(run('docker-compose -f compose.yaml --env-file=.env logs -f web')).toEqual({
      args: `--project-directory ${CWD} --env-file ${CWD}/.env --file ${CWD}/compose.yaml logs -f web`,
      copies: [
        [`${CWD}/.env`, 'A=1'],
        [`${CWD}/compose.yaml`, SERVICE],
      ],
    })
  })

  test('a stack too', () => {
    expect(run('docker stack deploy -c compose.yaml web').copies).toEqual([['compose.yaml', SERVICE]])
    expect(verdict('3', 'docker stack deploy --compose-file=compose.yaml web', { files })).toBe('compose')
    expect(verdict('3', 'docker stack up -c compose.yaml web', own('privileged: true'))).toBe('compose')
  })
})
