/**
 * A program for tests: looks for the session in its arguments (configuration directory, id, work directory) while no file
 * can be opened, and prints the error code of each look, or its result as JSON.
 */
import { execFileSync } from 'node:child_process'
import { findClaudeHolders } from '../../src/agents/claude/holder.ts'
import { locateClaudeSession } from '../../src/agents/claude/locate.ts'
import { inspectClaudeTranscript } from '../../src/agents/claude/transcript.ts'
import { examineUntrustedSync, openUntrusted } from '../../src/files/untrusted.ts'

const [configDir = '', id = '', workDir = ''] = process.argv.slice(2)
const env = { CLAUDE_CONFIG_DIR: configDir }
const looks: Record<string, () => unknown> = {
  locate: () => locateClaudeSession(id, env, workDir),
  inspect: () => inspectClaudeTranscript(id, env, { workDir }),
  holders: () => findClaudeHolders(id, env),
  open: () => openUntrusted(process.argv[1] ?? ''),
  examine: () => examineUntrustedSync(process.argv[1] ?? '', { maxBytes: 10 }),
}
if (process.argv[5] === 'exhausted') execFileSync('prlimit', ['--pid', String(process.pid), '--nofile=3:'])
const found: Record<string, unknown> = {}
for (const [name, look] of Object.entries(looks)) {
  try {
    found[name] = await look()
  } catch (error) {
    found[name] = (error as NodeJS.ErrnoException).code
  }
}
process.stdout.write(JSON.stringify(found))
