/** Which arguments are replaced by private copies, because the agent could exchange the files before they are read. */
import { expect, test } from 'vitest'
import { ask, CWD } from './world.ts'

const files = { [`${CWD}/a`]: 'a', [`${CWD}/b.yaml`]: 'b', '/etc/app/c': 'c' }
const remotes = new Map([['origin', 'https://github.com/o/r.git']])

/** The arguments at tier 3, with `COPY(path)` for what is copied. */
function given(command: string): string {
  const decision = ask('3', command, { files, remotes })
  if (decision.decision === 'deny') return `refused: ${decision.reason}`
  const args = [...decision.args]
  for (const copy of decision.copies)
    if ('path' in copy) args[copy.index] = `${copy.before}COPY(${copy.path})`
  return args.join(' ')
}

test.each([
  ['apprise -b x -a a json://h', '-b x -a COPY(a) json://h'],
  ['apprise -b x --attach=a json://h', '-b x --attach=COPY(a) json://h'],
  ['apprise -b x -a /etc/app/c json://h', '-b x -a /etc/app/c json://h'],
  ['kubectl apply -f b.yaml', 'apply -f COPY(b.yaml)'],
  ['kubectl apply -f -', 'apply -f -'],
  ['kubectl apply -f https://h/x.yaml', 'apply -f https://h/x.yaml'],
  [
    'kubectl create secret generic s --from-file=key=./a',
    'create secret generic s --from-file=key=COPY(./a)',
  ],
  ['helm upgrade web repo/web -f b.yaml', 'upgrade web repo/web -f COPY(b.yaml)'],
  ['docker run --env-file a img cat a', 'run --env-file COPY(a) img cat a'],
  ['docker load -i a', 'load -i COPY(a)'],
  ['docker config create x a', 'config create x COPY(a)'],
  ['docker cp -q a web:/a', 'cp -q COPY(a) web:/a'],
  ['kubectl cp a web:/a', 'cp COPY(a) web:/a'],
  ['gh gist create a', `gist create COPY(${CWD}/a)`],
  ['gh release upload v1 a', `release upload v1 COPY(${CWD}/a) --repo github.com/o/r`],
  ['gh issue comment 1 -b a', 'issue comment 1 -b a --repo github.com/o/r'],
  [
    'gh api repos/o/r/issues -F body=@a -F title=a',
    `api repos/o/r/issues -F body=@COPY(${CWD}/a) -F title=a`,
  ],
  // It names other files, relative to its own place.
  ['ansible-playbook b.yaml', 'b.yaml'],
])('%s', (command, expected) => {
  expect(given(command)).toBe(expected)
})

test('a label of an asset is refused, because the file could not be copied', () => {
  expect(given('gh release upload v1 a#notes')).toMatch(/^refused: .*label behind #/)
})
