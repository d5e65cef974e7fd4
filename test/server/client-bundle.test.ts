import { isBuiltin } from 'node:module'
import { gzipSync } from 'node:zlib'
import { rolldown } from 'rolldown'
import { expect, test } from 'vitest'

test('the client can be bundled for a browser: no zod, no Node builtins, small', async ({ annotate }) => {
  const bundle = await rolldown({
    input: new URL('../../src/client/index.ts', import.meta.url).pathname,
    platform: 'browser',
    logLevel: 'silent',
  })
  const { output } = await bundle.generate({ format: 'esm', minify: true })
  await bundle.close()
  const chunks = output.filter((file) => file.type === 'chunk')
  expect(chunks).toHaveLength(1)
  const [{ code, imports, dynamicImports, moduleIds, exports }] = chunks as [(typeof chunks)[number]]
  expect(exports).toContain('createClient')
  expect([...imports, ...dynamicImports]).toEqual([])
  expect(moduleIds.filter((id) => isBuiltin(id) || id.includes('node_modules'))).toEqual([])
  expect(moduleIds.some((id) => id.includes('/contract/routes/paths'))).toBe(true)
  const [bytes, compressed] = [Buffer.byteLength(code), gzipSync(code).byteLength]
  await annotate(`${bytes} bytes, ${compressed} compressed, ${moduleIds.length} modules`)
  expect(bytes).toBeLessThan(24 * 1024)
})
