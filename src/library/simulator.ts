/** The entry `reprise/simulator`: a scripted model server, for tests of programs that build on Reprise. */
import './node-version.ts'

export { RepriseError } from '../contract/errors.ts'
export type { RequestRecord } from '../simulator/request-record.ts'
export type { Scenario, ScenarioInput } from '../simulator/scenario-types.ts'
export { type Simulator, type SimulatorOptions, startSimulator } from '../simulator/server.ts'
