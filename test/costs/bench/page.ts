/** The page with the table. */
export const COSTS_PAGE = new URL('../../../docs/costs.md', import.meta.url);
