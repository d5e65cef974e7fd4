/** A desk in a process of its own, as in the daemon, that allows everything. Usage: answers-guards.ts DIR */
import { GuardDesk } from '../src/process/guard-desk.ts'

const [dir = ''] = process.argv.slice(2)
new GuardDesk({ dir, decide: async () => ({ decision: 'allow', reason: '' }) })
process.stdout.write('ready\n')
// Ends with whoever started it.
process.stdin.resume()
process.stdin.once('end', () => process.exit())
