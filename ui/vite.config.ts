// Builds the page into the folder the server bakes in. File names are stable, so that a rebuild of the
// same sources changes nothing, and everything is referenced relatively, so that the server may serve it from anywhere.
import { defineConfig } from 'vite';

export default defineConfig({
  base: './',
  publicDir: 'public',
  oxc: { jsx: { runtime: 'automatic', importSource: 'preact' } },
  build: {
    outDir: '../crates/show/view/assets',
    emptyOutDir: true,
    target: 'es2022',
    modulePreload: false,
    cssCodeSplit: false,
    assetsInlineLimit: 0,
    rollupOptions: {
      output: {
        entryFileNames: 'app.js',
        assetFileNames: 'app[extname]',
      },
    },
  },
});
