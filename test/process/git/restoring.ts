/** A process that restores and can be killed: `restoring.ts <home> <commit>`. */
import { restore } from '../../../src/process/git/restore.ts'
import { openGit } from '../../../src/process/git/run.ts'
import { findWorkTree } from '../../../src/process/git/work-tree.ts'

const [, , home = '', commit = ''] = process.argv
const env = { PATH: process.env.PATH, HOME: home, GIT_CONFIG_NOSYSTEM: '1' }
const found = await findWorkTree(openGit({ env, ownDirs: `${home}/own-git` }), `${home}/work`)
if (found.kind !== 'work-tree') throw new Error(found.kind)
await restore(found.workTree, { commit, saveAs: { jobId: 'job_1', message: 'before a restore' } })
