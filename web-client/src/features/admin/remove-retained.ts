import type { RetainedLine } from '@apus/api';
import { pathWith } from '@apus/api/path';
import { type AdminApi, ApiError } from './admin-api.ts';

/** Concurrent requests: the broker answers others meanwhile. */
const OUTSTANDING_MAX = 8;

/** Topics in one request, the most that the API allows. */
const PAGE = '1000';

/** How a removal stands. */
export interface Removal {
  readonly removed: number;
  readonly failed: number;
  /** The reason why the first one failed. */
  readonly problem: string | undefined;
}

/** Removes these retained messages. One that has gone meanwhile counts as removed. */
export async function removeTopics(
  api: AdminApi,
  topics: readonly string[],
  onProgress: (removal: Removal) => void,
  signal: AbortSignal,
): Promise<Removal> {
  const waiting = topics.values();
  let removal: Removal = { removed: 0, failed: 0, problem: undefined };
  const work = async (): Promise<void> => {
    for (const topic of waiting) {
      if (signal.aborted) return;
      const problem = await removeOne(api, topic);
      removal =
        problem === undefined
          ? { ...removal, removed: removal.removed + 1 }
          : { ...removal, failed: removal.failed + 1, problem: removal.problem ?? problem };
      onProgress(removal);
    }
  };
  await Promise.all(Array.from({ length: OUTSTANDING_MAX }, work));
  return removal;
}

/**
 * The topics that have a retained message now and match a filter. A message that is retained after the confirmation
 * stays.
 * @throws {ApiError}
 */
export async function topicsOf(api: AdminApi, filter: string, signal: AbortSignal): Promise<string[]> {
  const topics: string[] = [];
  let after: string | undefined;
  for (let page = 1; ; page += 1) {
    const place = after === undefined ? { page: String(page) } : { after };
    const query = { ...place, limit: PAGE, ...(filter !== '' && { topic: filter }) };
    const { data, meta } = await api.page<RetainedLine>('/mqtt/retainer/messages', query, signal);
    topics.push(...data.map(({ topic }) => topic));
    if (!meta.hasnext) return topics;
    after = meta.next ?? undefined;
  }
}

/** @returns the reason why it was not removed */
async function removeOne(api: AdminApi, topic: string): Promise<string | undefined> {
  try {
    await api.remove(pathWith('/mqtt/retainer/message/:topic', { topic }));
    return undefined;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    return error instanceof Error ? error.message : String(error);
  }
}
