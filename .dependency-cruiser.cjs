// Which folder may import which: the architecture, executable.
//
//   contract ← core ← (agents, process, store, queue) ← engine ← server ← library ← daemon
//   contract ← client ← library, cli, web
//
// Read by `npm run check:imports`. A type-only import counts like any other: a type is a dependency too.
// dependency-cruiser reads TypeScript through the API of TypeScript 6 (package `typescript`);
// type checking is done by TypeScript 7 (package `@typescript/native`), which has no such API.

// Every folder of src, and the other folders it may import from. A folder that is missing here may import nothing.
const mayImport = {
  // What crosses a boundary. Depends on nothing of ours.
  contract: [],
  // Opens files that others can write. Depends on nothing of ours, so that everything that reads a file may use it.
  files: [],
  // Pure decisions, in terms of the contract.
  core: ['contract'],
  // Four siblings that do the I/O. They do not know each other; the engine brings them together.
  agents: ['contract', 'core', 'files'],
  process: ['contract', 'core', 'files'],
  store: ['contract', 'core'],
  queue: ['contract', 'core'],
  // Drives the one path.
  engine: ['contract', 'core', 'files', 'agents', 'process', 'store', 'queue'],
  // Shows the engine over HTTP. Never reaches around it to the store or the processes.
  server: ['contract', 'core', 'engine'],
  // Settings: read by the daemon and the CLI, which hand plain values to everything else. Of core it uses what says
  // whether a setting can be understood, such as a command pattern.
  config: ['contract', 'core', 'files'],
  // A stand-in for the vendors, so it may know nothing of the product but the contract.
  simulator: ['contract'],
  // Speaks HTTP to the server and knows it only by the contract.
  client: ['contract'],
  // Talks to the daemon through the client (for five files more is allowed, below).
  cli: ['contract', 'client', 'config'],
  // Composition root: the only place that knows all concrete parts. Of server it uses the handlers, of client the calls.
  library: [
    'contract',
    'core',
    'files',
    'agents',
    'process',
    'store',
    'queue',
    'engine',
    'server',
    'client',
    'config',
    'simulator',
  ],
  // Queries in the form of the Agent SDK, on an engine in process.
  provider: ['contract', 'agents', 'engine', 'library'],
  // The library behind a server, as a process of its own.
  daemon: ['contract', 'core', 'config', 'engine', 'server', 'library'],
}

// The commands that start something in this very process, or look into it: they may also import library,
// daemon and simulator.
const startingCommands = '^src/cli/(commands/(up|simulate|doctor|policy)|daemon/[^/]*)[.]ts$'

// The packages that scripts/build.ts puts into the bundles. They are dev dependencies, because an installed Reprise has
// them already. zod is a dependency, because the type declarations of the package refer to it.
const bundled = [
  '@hono/node-server',
  'commander',
  'croner',
  'damerau-levenshtein',
  'get-east-asian-width',
  'hono',
  'kysely',
  'mdast-util-from-markdown',
  'mdast-util-gfm-table',
  'micromark-extension-gfm-table',
  'pino',
  'pretty-ms',
  'string-width',
  'ulid',
  'unbash',
  'yaml',
]

// Folders of which no two may import each other, directly or through others.
const withoutFolderCycles = '^src/'

const oneOf = (folders) => `^src/(${folders.join('|')})/`

const allowOnly = (folder, allowed, from = {}) => ({
  name: `${from.name ?? folder}-imports`,
  comment: `src/${folder} may import from ${allowed.join(', ') || 'no other folder of src'}.`,
  severity: 'error',
  from: { path: from.path ?? `^src/${folder}/`, ...(from.pathNot && { pathNot: from.pathNot }) },
  to: { path: '^src/', pathNot: oneOf([folder, ...allowed]) },
})

const { cli, ...others } = mayImport

module.exports = {
  forbidden: [
    ...Object.entries(others).map(([folder, allowed]) => allowOnly(folder, allowed)),
    allowOnly('cli', cli, { pathNot: startingCommands }),
    allowOnly('cli', [...cli, 'library', 'daemon', 'simulator'], {
      name: 'cli-starting',
      path: startingCommands,
    }),
    {
      name: 'known-folders',
      comment: 'A new folder in src needs a line in mayImport (.dependency-cruiser.cjs) first.',
      severity: 'error',
      from: { path: '^src/', pathNot: oneOf(Object.keys(mayImport)) },
      to: {},
    },
    {
      name: 'web-imports',
      comment: 'The dashboard uses client and contract only, like any other user of the API.',
      severity: 'error',
      from: { path: '^web/' },
      to: { path: '^src/', pathNot: oneOf(['contract', 'client']) },
    },
    {
      name: 'runs-in-a-browser',
      comment: 'contract, client and web run in a browser: no Node builtins, not even their types.',
      severity: 'error',
      from: { path: '^(src/(contract|client)|web)/', pathNot: '[.]test[.]tsx?$|^web/[^/]+[.]config[.]ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'core-is-pure',
      comment:
        'core decides and does nothing else: no files, processes, network or clock, hence no Node builtins.',
      severity: 'error',
      from: { path: '^src/core/', pathNot: '[.]test[.]ts$' },
      to: { dependencyTypes: ['core'] },
    },
    {
      name: 'product-without-tests',
      comment: 'src never imports from test or bench.',
      severity: 'error',
      from: { path: '^(src|web)/' },
      to: { path: '^(test|bench)/' },
    },
    {
      name: 'only-bundled-packages',
      comment:
        'What src imports becomes part of the bundles, with its license; add it to `bundled` in .dependency-cruiser.cjs. Tools for development do not belong there.',
      severity: 'error',
      from: { path: '^src/', pathNot: '[.]test[.]ts$' },
      to: {
        dependencyTypes: ['npm-dev', 'npm-no-pkg', 'npm-unknown'],
        dependencyTypesNot: ['type-only'],
        pathNot: `node_modules/(${bundled.join('|')})/`,
      },
    },
    {
      name: 'no-cycles',
      comment: 'Two modules that import each other are one module, or miss a third.',
      severity: 'error',
      from: {},
      to: { circular: true },
    },
    {
      name: 'no-folder-cycles',
      comment:
        'Two folders that import each other are one folder, or something in them is in the wrong place.',
      severity: 'error',
      scope: 'folder',
      from: { path: withoutFolderCycles },
      to: { circular: true, path: withoutFolderCycles },
    },
    {
      name: 'no-orphans',
      comment: 'A module that nothing imports and that imports nothing does nothing.',
      severity: 'error',
      from: { orphan: true, path: '^src/', pathNot: '[.]d[.]ts$' },
      to: {},
    },
    {
      name: 'resolvable',
      comment: 'The imported file or package does not exist.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    exclude: { path: '^([.][a-z]|coverage/|dist/)' },
    doNotFollow: { path: 'node_modules' },
    parser: 'tsc',
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['types', 'node', 'import', 'default'],
    },
  },
}
