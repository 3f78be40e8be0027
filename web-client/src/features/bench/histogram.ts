import * as module from 'hdr-histogram-js/dist/Int32Histogram.js';

/**
 * Imports only the histogram. The package's main module also contains WebAssembly, compression and an `eval`, which
 * make the worker twice as large and which the page's Content Security Policy forbids.
 */
type HistogramClass = typeof module.default;
export type Histogram = InstanceType<HistogramClass>;

/** A CommonJS module: some loaders nest its default export one level deeper. */
const exported = module.default as HistogramClass | { readonly default: HistogramClass };
export const Int32Histogram: HistogramClass = 'default' in exported ? exported.default : exported;
