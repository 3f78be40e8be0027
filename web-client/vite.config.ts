import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { mqttForBrowsers } from './mqtt-for-browsers.ts';

/** Files with relative addresses: the page works at any path of any host. */
export default defineConfig({
  base: './',
  plugins: [react()],
  // Workspace packages are read from their sources.
  resolve: { conditions: ['source', 'browser', 'module', 'import', 'default'] },
  worker: { format: 'es', plugins: () => [mqttForBrowsers()] },
  build: {
    target: 'es2022',
    // Browsers that support `light-dark()`; for older ones it would be rewritten so that Mantine's colour scheme has no
    // effect.
    cssTarget: ['chrome123', 'firefox120', 'safari17.5'],
    assetsInlineLimit: 0,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
    // The modules that every fresh page needs come in two files, with all that they import: gzip finds more to share
    // in a long file than in seventy short ones.
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'page', test: /\/src\/main\.tsx$/, priority: 2 },
            { name: 'messages', test: /\/messages-view\.tsx$/, priority: 1 },
          ],
        },
      },
    },
  },
});
