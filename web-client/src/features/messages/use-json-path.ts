import { useEffect, useState } from 'react';
import type { JsonPathQuery } from './message-filter.ts';

/** JSONPath, which the page fetches when its user first asks for it. */
export async function loadJsonPath(): Promise<JsonPathQuery> {
  return (await import('./json-path-predicate.ts')).jsonPathPredicate;
}

/** Undefined until it is needed and loaded. */
export function useJsonPath(isWanted: boolean): JsonPathQuery | undefined {
  const [loaded, setLoaded] = useState<{ readonly query: JsonPathQuery }>();
  useEffect(() => {
    // If the server is gone, the next query of this kind tries again.
    if (isWanted)
      loadJsonPath().then(
        (query) => setLoaded({ query }),
        () => {},
      );
  }, [isWanted]);
  return loaded?.query;
}
