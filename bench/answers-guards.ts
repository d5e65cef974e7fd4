/** A guard desk in its own process, as in the daemon, that allows everything. Usage: answers-guards.ts DIR */
import { GuardDesk } from '../src/process/guard-desk.ts'

const [dir = ''] = process.argv.slice(2)
new GuardDesk({ dir, decide: async () => ({ decision: 'allow', reason: '' }) })
process.stdout.write('ready\n')
// Ends when the process that started it ends.
process.stdin.resume()
process.stdin.once('end', () => process.exit())
