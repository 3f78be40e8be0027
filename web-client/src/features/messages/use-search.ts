import { useEffect, useState } from 'react';
import type { QueryCheck } from './message-filter.ts';
import type { MessageSearch } from './message-search.ts';
import type { SlowQuery } from './query-matcher.ts';

/** The parts of a search in a worker, which the page fetches when its user first asks for one. */
export interface SearchParts {
  readonly checkJsonPath: QueryCheck;
  readonly start: (query: SlowQuery) => MessageSearch;
}

export async function loadSearch(): Promise<SearchParts> {
  const [{ matcherOf }, search] = await Promise.all([
    import('./query-matcher.ts'),
    import('./message-search.ts'),
  ]);
  return {
    checkJsonPath: (query) => void matcherOf({ kind: 'jsonpath', query }),
    start: (query) => new search.MessageSearch(query),
  };
}

/** Undefined until it is needed and loaded. */
export function useSearch(isWanted: boolean): SearchParts | undefined {
  const [parts, setParts] = useState<SearchParts>();
  useEffect(() => {
    // If the server is gone, the next query of this kind tries again.
    if (isWanted) loadSearch().then(setParts, () => {});
  }, [isWanted]);
  return parts;
}
