/** Colours for code. The highlighter and its languages are loaded when code of that language is first shown. */
import type { HighlighterCore, LanguageInput, ThemedToken } from 'shiki/core'

const LANGUAGES: Readonly<Record<string, () => LanguageInput>> = {
  typescript: () => import('shiki/langs/typescript.mjs'),
  tsx: () => import('shiki/langs/tsx.mjs'),
  javascript: () => import('shiki/langs/javascript.mjs'),
  json: () => import('shiki/langs/json.mjs'),
  bash: () => import('shiki/langs/bash.mjs'),
  python: () => import('shiki/langs/python.mjs'),
  yaml: () => import('shiki/langs/yaml.mjs'),
  go: () => import('shiki/langs/go.mjs'),
  rust: () => import('shiki/langs/rust.mjs'),
  html: () => import('shiki/langs/html.mjs'),
  css: () => import('shiki/langs/css.mjs'),
  sql: () => import('shiki/langs/sql.mjs'),
  diff: () => import('shiki/langs/diff.mjs'),
  toml: () => import('shiki/langs/toml.mjs'),
  docker: () => import('shiki/langs/docker.mjs'),
}

const ALIASES: Readonly<Record<string, string>> = {
  ts: 'typescript',
  js: 'javascript',
  jsx: 'tsx',
  mjs: 'javascript',
  sh: 'bash',
  shell: 'bash',
  zsh: 'bash',
  console: 'bash',
  py: 'python',
  yml: 'yaml',
  rs: 'rust',
  dockerfile: 'docker',
  jsonc: 'json',
  patch: 'diff',
}

export function languageOf(name: string | undefined): string | null {
  const known = ALIASES[name?.toLowerCase() ?? ''] ?? name?.toLowerCase() ?? ''
  return known in LANGUAGES ? known : null
}

export const languageOfPath = (path: string) =>
  languageOf(/\.(\w+)$/.exec(path)?.[1] ?? path.split('/').at(-1))

let loading: Promise<HighlighterCore> | null = null
const loaded = new Set<string>()

async function open(): Promise<HighlighterCore> {
  const [{ createCssVariablesTheme, createHighlighterCore }, { createJavaScriptRegexEngine }] =
    await Promise.all([import('shiki/core'), import('shiki/engine/javascript')])
  return createHighlighterCore({
    themes: [createCssVariablesTheme({ name: 'roles', variablePrefix: '--shiki-' })],
    langs: [],
    // A pattern that this engine cannot express is left uncoloured. The other engine would need WebAssembly.
    engine: createJavaScriptRegexEngine({ forgiving: true }),
  })
}

const MAX_CHARS = 30_000

/** Lines of coloured tokens; null: shown plainly. */
export async function highlight(code: string, language: string): Promise<ThemedToken[][] | null> {
  const load = LANGUAGES[language]
  if (!load || code.length > MAX_CHARS) return null
  loading ??= open()
  const highlighter = await loading
  if (!loaded.has(language)) {
    await highlighter.loadLanguage(load())
    loaded.add(language)
  }
  return highlighter.codeToTokensBase(code, { lang: language, theme: 'roles' })
}
