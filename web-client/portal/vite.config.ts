import { fileURLToPath } from 'node:url';
import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/**
 * The developers' page. It is built separately, since its folder is copied to any web host, and the web client's files
 * would be needed too if both shared a chunk.
 */
export default defineConfig({
  root: fileURLToPath(new URL('.', import.meta.url)),
  // The web client's own files.
  publicDir: false,
  base: './',
  plugins: [react()],
  // Workspace packages are read from their sources.
  resolve: { conditions: ['source', 'browser', 'module', 'import', 'default'] },
  // For `npm run dev`, with a running broker.
  server: { proxy: { '/api': { target: 'http://127.0.0.1:8083', changeOrigin: true } } },
  build: {
    outDir: fileURLToPath(new URL('../dist/portal', import.meta.url)),
    emptyOutDir: true,
    target: 'es2022',
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    reportCompressedSize: false,
  },
});
