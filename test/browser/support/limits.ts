/** The longest wait of Playwright and of `eventually`. A busy machine may need many times an idle machine's time. */
export const PATIENCE_MS = 30_000;
