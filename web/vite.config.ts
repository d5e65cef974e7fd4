/** The build of the dashboard: `npm run build` puts it into dist/web, from where the daemon serves it. */
import { resolve } from 'node:path'
import tailwindcss from '@tailwindcss/vite'
import react from '@vitejs/plugin-react'
import { defineConfig } from 'vite'

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), tailwindcss()],
  build: {
    outDir: resolve(import.meta.dirname, '..', 'dist', 'web'),
    emptyOutDir: true,
    target: 'es2023',
    // Small images would become data: addresses otherwise, and scripts must not be inlined at all.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 800,
  },
  // For work on the page: `npx vite web`, with a daemon on the default port.
  server: { proxy: { '/api': 'http://127.0.0.1:7717' } },
})
