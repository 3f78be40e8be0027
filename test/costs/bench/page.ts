/** The page with the table. */
export const COSTS_PAGE = new URL('../../../loadtest/results/operations.md', import.meta.url);
