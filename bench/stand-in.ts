/**
 * An agent that costs next to nothing, so that Reprise itself is measured: a shell script that implements as much of
 * the CLI's protocol as a turn needs. Its prompt determines what it does.
 */
import { execFileSync } from 'node:child_process'
import { chmodSync, closeSync, constants, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { World } from '../test/support/world.ts'
import { claudePath } from './machine.ts'

/** Answers at once; waits until it is released; ends without an answer. */
export const STAND_IN_PROMPTS = { quick: 'be quick', hold: 'hold on', fail: 'fail at once' } as const

export interface StandIn {
  name: 'stand-in'
  command: string
  /** For the world's configuration. */
  agents: { 'stand-in': { adapter: 'claude'; command: string } }
  /** Releases all that wait now. */
  letGo: () => Promise<void>
}

export function writeStandIn(world: Pick<World, 'dir'>): StandIn {
  const [command, gate] = [join(world.dir, 'stand-in'), join(world.dir, 'gate')]
  execFileSync('mkfifo', [gate])
  writeFileSync(command, script(gate))
  chmodSync(command, 0o755)
  return {
    name: 'stand-in',
    command,
    agents: { 'stand-in': { adapter: 'claude', command } },
    letGo: () => openGate(gate),
  }
}

const USAGE = '{"input_tokens":900,"output_tokens":40,"cache_read_input_tokens":9000}'
const SPENT =
  '{"inputTokens":900,"outputTokens":40,"cacheReadInputTokens":9000,"cacheCreationInputTokens":0,"costUSD":0.002}'

// Waiting for a FIFO costs nothing, however many wait; polling for a file would.
const script = (gate: string) => `#!/bin/sh
case "$*" in *--version* | *--help*) exec '${claudePath()}' "$@" ;; esac
id=
for arg in "$@"; do case $arg in --session-id=* | --resume=*) id=\${arg#*=} ;; esac done
while read -r prompt; do case $prompt in *'"type":"user"'*) break ;; esac done
case $prompt in *'${STAND_IN_PROMPTS.fail}'*) exit 1 ;; esac
echo '{"type":"system","subtype":"init","session_id":"'$id'","model":"stand-in"}'
case $prompt in *'${STAND_IN_PROMPTS.hold}'*) read -r _ <'${gate}' ;; esac
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"Done.","session_id":"'$id'","usage":${USAGE},"model_usage_since_last_result":{"stand-in":${SPENT}}}'
`

/**
 * A process that waits to open the FIFO for reading is woken by a writer, and reads the end once the writer has closed
 * it.
 */
async function openGate(gate: string): Promise<void> {
  for (let tries = 0; tries < 500; tries++) {
    try {
      // Non-blocking: it fails while no process waits.
      closeSync(openSync(gate, constants.O_WRONLY | constants.O_NONBLOCK))
      return
    } catch {
      await delay(5)
    }
  }
  throw new Error('no agent is waiting')
}
