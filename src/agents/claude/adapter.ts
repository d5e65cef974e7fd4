import type { AgentAdapter } from '../adapter.ts'
import { answerClaude, farewellClaude } from './answer.ts'
import { classifyClaude } from './classify.ts'
import { claudeOwnFiles } from './config-dir.ts'
import { claudeCopies } from './copies.ts'
import { claudeAccount, hasClaudeCredentials, simulateClaude } from './credentials.ts'
import { describeClaudeTool } from './describe-tool.ts'
import { readClaudeDirectory, readClaudeInstructions } from './directory.ts'
import { encloseClaude } from './enclose.ts'
import { claudeSessions } from './existing.ts'
import { findClaudeHolders } from './holder.ts'
import { locateClaudeSession, placeClaudeSession } from './locate.ts'
import { mendClaudeTranscript } from './mend.ts'
import { readClaudeMessage } from './message.ts'
import { parseClaudeLine } from './parse.ts'
import { planClaude, userMessage } from './plan.ts'
import { CLAUDE_PRICING } from './pricing.ts'
import { probeClaude } from './probe.ts'
import { claudeReminder } from './reminder.ts'
import { readClaudeScheduling } from './scheduling.ts'
import { inspectClaudeTranscript } from './transcript.ts'
import { readClaudeStartFiles, staysClaudeQuiet } from './waiting.ts'

export const claudeAdapter: AgentAdapter = {
  name: 'claude',
  commands: ['claude'],
  installHint:
    'Install Claude Code (npm install -g @anthropic-ai/claude-code), or set agents.claude.command.',
  envPrefixes: ['ANTHROPIC_', 'CLAUDE_'],
  envStripped: ['CLAUDECODE', 'CLAUDE_CODE_ENTRYPOINT', 'CLAUDE_CODE_CHILD_SESSION', 'CLAUDE_CODE_SSE_PORT'],
  envFixed: {
    DISABLE_AUTOUPDATER: '1',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    // With it, the instructions of the work directory apply although its settings do not; see plan.ts.
    CLAUDE_CODE_ADDITIONAL_DIRECTORIES_CLAUDE_MD: '1',
  },
  compactPrompt: '/compact',
  pricing: CLAUDE_PRICING,
  lingerMs: 3000,
  simulate: simulateClaude,
  probe: probeClaude,
  hasCredentials: hasClaudeCredentials,
  account: claudeAccount,
  readDirectory: readClaudeDirectory,
  readInstructions: readClaudeInstructions,
  plan: planClaude,
  prompt: userMessage,
  takesMessages: true,
  waiting: { readStartFiles: readClaudeStartFiles, staysQuiet: staysClaudeQuiet },
  describeTool: describeClaudeTool,
  readScheduling: readClaudeScheduling,
  output: { stateful: false, parseLine: parseClaudeLine },
  readMessage: readClaudeMessage,
  classify: classifyClaude,
  answer: answerClaude,
  reminder: claudeReminder,
  farewell: farewellClaude,
  locateSession: locateClaudeSession,
  placeSession: placeClaudeSession,
  inspectTranscript: inspectClaudeTranscript,
  mendTranscript: mendClaudeTranscript,
  copies: claudeCopies,
  ownFiles: claudeOwnFiles,
  findHolders: findClaudeHolders,
  enclose: encloseClaude,
  existing: claudeSessions,
}
