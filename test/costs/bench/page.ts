/** Where the table stands. */
export const COSTS_PAGE = new URL('../../../docs/costs.md', import.meta.url);
