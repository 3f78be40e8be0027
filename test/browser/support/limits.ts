/** How long what must come is waited for, by Playwright and by `eventually`: a busy machine may need many times what an idle one does. */
export const PATIENCE_MS = 30_000;
