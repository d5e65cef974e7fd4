/**
 * Every operation of the HTTP API: its id, method and path. Plain data without schemas, because the client imports it
 * at run time and is bundled for browsers. What an operation takes and returns is in the other files of this folder;
 * table.ts does not compile until each operation listed here is described there.
 */
export const PATHS = {
  getHealth: 'GET /api/health',
  getStatus: 'GET /api/status',
  shutDown: 'POST /api/shutdown',
  getStats: 'GET /api/stats',
  prune: 'POST /api/prune',
  listAgents: 'GET /api/agents',
  testNotifications: 'POST /api/notifications/test',
  getOpenApi: 'GET /api/openapi.json',
  getOverview: 'GET /api/overview',
  listCosts: 'GET /api/costs',
  getConfiguration: 'GET /api/configuration',
  followChanges: 'GET /api/changes',
  resolveId: 'GET /api/ids/{ref}',

  createRun: 'POST /api/runs',
  listRuns: 'GET /api/runs',
  getRun: 'GET /api/runs/{id}',
  followRunEvents: 'GET /api/runs/{id}/events',
  cancelRun: 'POST /api/runs/{id}/cancel',
  continueRun: 'POST /api/runs/{id}/continue',
  answerRun: 'POST /api/runs/{id}/tool-result',
  sayToRun: 'POST /api/runs/{id}/messages',
  listRunMessages: 'GET /api/runs/{id}/messages',
  getChain: 'GET /api/runs/{id}/chain',
  listApprovals: 'GET /api/approvals',
  decideApproval: 'POST /api/runs/{id}/approval',

  createConversation: 'POST /api/conversations',
  listConversations: 'GET /api/conversations',
  getConversation: 'GET /api/conversations/{id}',
  updateConversation: 'PATCH /api/conversations/{id}',
  planMove: 'GET /api/conversations/{id}/move',
  planTurn: 'GET /api/conversations/{id}/plan',
  warmConversation: 'POST /api/conversations/{id}/warm',
  deleteConversation: 'DELETE /api/conversations/{id}',
  createTurn: 'POST /api/conversations/{id}/turns',
  editMessage: 'PATCH /api/conversations/{id}/messages/{mid}',
  truncateConversation: 'DELETE /api/conversations/{id}/messages/{mid}',
  forkConversation: 'POST /api/conversations/{id}/fork',
  retryTurn: 'POST /api/conversations/{id}/messages/{mid}/retry',

  createJob: 'POST /api/jobs',
  listJobs: 'GET /api/jobs',
  getJob: 'GET /api/jobs/{id}',
  updateJob: 'PATCH /api/jobs/{id}',
  followJobEvents: 'GET /api/jobs/{id}/events',
  retryJob: 'POST /api/jobs/{id}/retry',
  cancelJob: 'POST /api/jobs/{id}/cancel',
  diffCheckpoints: 'GET /api/jobs/{id}/diff',
  restoreCheckpoint: 'POST /api/jobs/{id}/restore',
  rewindJob: 'POST /api/jobs/{id}/rewind',
  getTranscript: 'GET /api/jobs/{id}/transcript',

  createWatch: 'POST /api/watches',
  listWatches: 'GET /api/watches',
  getWatch: 'GET /api/watches/{id}',
  updateWatch: 'PATCH /api/watches/{id}',
  removeWatch: 'DELETE /api/watches/{id}',
  triggerWatch: 'POST /api/watches/{id}/trigger',
  pauseWatch: 'POST /api/watches/{id}/pause',
  resumeWatch: 'POST /api/watches/{id}/resume',
  listCycles: 'GET /api/watches/{id}/cycles',
  receiveEvents: 'POST /api/hooks/{watch}',
  getCycle: 'GET /api/cycles/{id}',
  cancelCycle: 'POST /api/cycles/{id}/cancel',

  createFollowUp: 'POST /api/followups',
  listFollowUps: 'GET /api/followups',
  getFollowUp: 'GET /api/followups/{id}',
  cancelFollowUp: 'DELETE /api/followups/{id}',

  listSessions: 'GET /api/sessions',
  // Before `getSession`, whose pattern it fits too.
  listAdoptable: 'GET /api/sessions/adoptable',
  adoptSessions: 'POST /api/sessions/adopt',
  getSession: 'GET /api/sessions/{id}',
  exportSession: 'POST /api/sessions/{id}/export',
  importSession: 'POST /api/sessions/import',
  forkSession: 'POST /api/sessions/{id}/fork',
  planSessionMove: 'GET /api/sessions/{id}/move',
  moveSession: 'POST /api/sessions/{id}/move',
  deleteSession: 'DELETE /api/sessions/{id}',

  createSignInLink: 'POST /api/sign-in-links',
  signIn: 'POST /api/sign-in',
  signOut: 'POST /api/sign-out',
  listTokens: 'GET /api/tokens',
  createToken: 'POST /api/tokens',
  revokeToken: 'DELETE /api/tokens/{id}',
  rotateToken: 'POST /api/tokens/{id}/rotate',
  listAudit: 'GET /api/audit',

  inspectTrust: 'GET /api/trust',
  listTrust: 'GET /api/trust/decisions',
  decideTrust: 'POST /api/trust/decisions',
  revokeTrust: 'DELETE /api/trust/decisions',
} as const satisfies Readonly<Record<string, `${Method} /${string}`>>

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'
export type OperationId = keyof typeof PATHS

export const OPERATION_IDS = Object.keys(PATHS) as OperationId[]

export function splitPath(id: OperationId): { method: Method; path: string } {
  const [method = '', path = ''] = PATHS[id].split(' ')
  return { method: method as Method, path }
}
