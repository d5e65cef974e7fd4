/** Reads a scenario for the simulator, with an error that says where the mistake is. */
import { resolve } from 'node:path'
import { RepriseError } from '../../contract/errors.ts'
import type { Scenario } from '../../simulator/scenario-types.ts'
import type { CliContext } from '../base/context.ts'

export async function readScenario(file: string, { cwd }: Pick<CliContext, 'cwd'>): Promise<Scenario> {
  const { loadScenario } = await import('../../simulator/scenario.ts')
  return loadScenario(resolve(cwd, file)).catch(notAScenario)
}

function notAScenario(error: unknown): never {
  const { code, message } = error as { code?: unknown; message: string }
  if (code !== 'scenario-invalid') throw error
  throw new RepriseError('scenario-invalid', message, {
    hint: 'docs/simulator.md describes the format.',
    cause: error,
  })
}
