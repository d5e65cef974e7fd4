/** The settings of the example watch: as a file of their own, and added to one that is there. */
import { isMap, isScalar, parseDocument, stringify } from 'yaml'
import { usageError } from '../base/usage-error.ts'
import { TIER_PROMPTS } from './prompts.ts'

export interface Example {
  name: string
  workDir: string
  url: string
  container: string
  every: string
  hookSecret: string
}

export function exampleSettings(example: Example): string {
  const { name, every, workDir, hookSecret } = example
  const prompts = TIER_PROMPTS.map(({ tier, file, does }) => `  ${tier}: { promptFile: ${file} }   # ${does}`)
  return `# What is looked at again and again. \`reprise watch\` lists it.
watches:
  ${scalar(name)}:
    every: ${every}            # or cron: "*/30 * * * *", with timeZone
    workDir: ${scalar(workDir)}
    memory: fresh         # or persistent: each time in the session of the time before
    overlap: skip         # or queue: what to do when it is due while it is still at it
    maxTier: 3            # 1 only looks, 2 restarts, 3 redeploys
    maxDuration: 1h       # one time, with what it checks later
    budgetUsd: 5
    notifyFrom: change    # tell when it breaks, is repaired or needs you; all would tell every time
    # With this, others may send it alerts, and do nothing else.
    hookSecret: ${scalar(hookSecret)}
    prompt: |
${indent(promptOf(example), 6)}

# Models, tools and commands of the tiers are the defaults; each key overrides one. Add approval: true to a tier that
# shall wait for you. What no tier may do (policy.never, policy.protectedPaths) is the default, too.
tiers:
${prompts.join('\n')}
`
}

function promptOf({ url, container }: Example): string {
  return `Check that ${url} answers, and that the container ${container} is well.
Healthy is: an HTTP status below 400 within 10 seconds; the container running, not restarting, not unhealthy; no
errors in its log of the last 30 minutes that people would notice.`
}

/** In quotes where YAML would take it for something else. */
const scalar = (text: string) => stringify(text, { lineWidth: 0 }).trimEnd()

const indent = (text: string, by: number) => text.replaceAll(/^/gm, ' '.repeat(by))

/** Nothing but comments. */
export function isEmptySettings(text: string): boolean {
  const document = parseDocument(text)
  return document.errors.length === 0 && document.toJS() == null
}

/** With all that was there, and its comments. A watch of that name, and the prompts of the tiers, are replaced. */
export function addToSettings(text: string, example: Example, file: string): string {
  const document = parseDocument(text)
  const refuse = (why: string) => usageError(`${file} ${why}`, 'Mend it first; it was not changed.')
  if (document.errors[0] || !isMap(document.contents)) {
    throw refuse(`is not valid YAML: ${document.errors[0]?.message ?? 'expected keys and values'}`)
  }
  const added = parseDocument(exampleSettings(example)).toJS() as {
    watches: Record<string, unknown>
    tiers: Record<string, { promptFile: string }>
  }
  // What has no value yet cannot be added to; and left to itself, YAML would make a list for the key 1.
  const makeMap = (path: unknown[]) => {
    const there = document.getIn(path, true)
    if (there === undefined || (isScalar(there) && there.value === null))
      document.setIn(path, document.createNode({}))
    else if (!isMap(there)) throw refuse(`has something else at ${path.join('.')} than keys and values`)
  }
  makeMap(['watches'])
  makeMap(['tiers'])
  document.setIn(
    ['watches', keyIn(document.get('watches'), example.name) ?? example.name],
    document.createNode(added.watches[example.name]),
  )
  for (const [tier, { promptFile }] of Object.entries(added.tiers)) {
    const key = keyIn(document.get('tiers'), tier) ?? Number(tier)
    makeMap(['tiers', key])
    document.setIn(['tiers', key, 'promptFile'], promptFile)
  }
  return stringify(document)
}

/** As it is written there: YAML tells 1 from "1". */
function keyIn(map: unknown, name: string): unknown {
  const keys = isMap(map) ? map.items.map(({ key }) => (isScalar(key) ? key.value : key)) : []
  return keys.find((key) => String(key) === name)
}
