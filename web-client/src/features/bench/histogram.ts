import * as module from 'hdr-histogram-js/dist/Int32Histogram.js';

/**
 * The histogram alone. The package's main module also brings WebAssembly, compression and an `eval`, which make the
 * worker twice as large and which the page's Content Security Policy forbids.
 */
type HistogramClass = typeof module.default;
export type Histogram = InstanceType<HistogramClass>;

/** A CommonJS module: some loaders put what it exports by default one level deeper. */
const exported = module.default as HistogramClass | { readonly default: HistogramClass };
export const Int32Histogram: HistogramClass = 'default' in exported ? exported.default : exported;
