import { type Found, matcherOf, type SlowQuery } from './query-matcher.ts';

/** The page sends the query once, and then lists of items. The worker answers `true` to the query. */
export type SearchRequest = SlowQuery | readonly unknown[];

interface WorkerGlobals {
  postMessage(answer: true | readonly Found[]): void;
  onmessage: ((event: MessageEvent<SearchRequest>) => void) | null;
}

const globals = globalThis as unknown as WorkerGlobals;
let matcher: (item: unknown) => Found = () => undefined;

globals.onmessage = ({ data }) => {
  if ('query' in data) {
    matcher = matcherOf(data);
    globals.postMessage(true);
  } else globals.postMessage(data.map((item) => matcher(item)));
};
