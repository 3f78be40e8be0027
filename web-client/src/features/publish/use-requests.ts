import { useState } from 'react';
import { newId, newSubscription } from '../../engine/new-profile.ts';
import type { ConnectionProfile, LoggedMessage, Trouble } from '../../engine/types.ts';
import { connections } from '../../state/connections.ts';
import type { Draft } from '../../state/draft.ts';
import { profileOf, setSubscriptions } from '../../state/profiles.ts';
import { useStore } from '../../state/store.ts';
import { awaitReply } from './await-reply.ts';
import { correlationBytes, requestOf } from './draft-request.ts';

/** Requests that are shown; older ones go. */
const REQUESTS_MAX = 10;

/** How long a subscription may take to be granted before the request is sent anyway. */
const SUBSCRIBE_TIMEOUT_MS = 10_000;

export type RequestState =
  | { readonly type: 'pending' }
  | { readonly type: 'failed'; readonly trouble: Trouble }
  | { readonly type: 'timed-out'; readonly afterMs: number }
  | { readonly type: 'answered'; readonly afterMs: number; readonly reply: LoggedMessage };

export interface RequestRecord {
  readonly id: string;
  readonly topic: string;
  readonly state: RequestState;
}

/** A unique topic; below the one that the server proposes, if it does (4.10.2). */
export function newResponseTopic(responseInformation: string | undefined): string {
  const base = responseInformation ?? 'apus/replies';
  return `${base.replace(/\/$/, '')}/${newId().slice(0, 8)}`;
}

export function useRequests(profile: ConnectionProfile): {
  readonly requests: readonly RequestRecord[];
  readonly send: (draft: Draft, responseTopic: string, timeoutMs: number) => Promise<void>;
} {
  const [requests, setRequests] = useState<readonly RequestRecord[]>([]);
  const send = async (draft: Draft, responseTopic: string, timeoutMs: number): Promise<void> => {
    const { correlationText } = draft.properties;
    const correlation = correlationBytes(correlationText === '' ? newId().slice(0, 12) : correlationText);
    const request = requestOf(draft, profile.protocolVersion);
    if ('key' in request) return;
    const id = newId();
    const become = (state: RequestState): void =>
      setRequests((known) => known.map((record) => (record.id === id ? { ...record, state } : record)));
    setRequests((known) => [
      { id, topic: draft.topic, state: { type: 'pending' as const } },
      ...known.slice(0, REQUESTS_MAX - 1),
    ]);
    await subscribeTo(profile.id, responseTopic);
    const connection = connections.get(profile.id);
    const startedAt = performance.now();
    const reply = awaitReply(connection.messages, responseTopic, correlation, timeoutMs);
    const properties = { ...request.properties, responseTopic, correlationData: correlation };
    const outcome = await connection.publish({ ...request, properties });
    if (outcome.trouble !== undefined) {
      become({ type: 'failed', trouble: outcome.trouble });
      return;
    }
    const answer = await reply;
    const afterMs = performance.now() - startedAt;
    become(
      answer === undefined ? { type: 'timed-out', afterMs } : { type: 'answered', afterMs, reply: answer },
    );
  };
  return { requests, send };
}

/** Subscribes, as in the panel, and waits until the server has granted it. */
async function subscribeTo(id: string, topic: string): Promise<void> {
  const known = profileOf(id)?.subscriptions ?? [];
  const existing = known.find(({ filter }) => filter === topic);
  const subscription = existing ?? {
    ...newSubscription(topic, known.length),
    alias: 'Answers',
  };
  if (existing === undefined) await setSubscriptions(id, [...known, subscription]);
  await granted(id, subscription.id);
}

function granted(id: string, subscriptionId: string): Promise<void> {
  const isGranted = (): boolean =>
    useStore.getState().statuses[id]?.subscriptions[subscriptionId]?.status === 'granted';
  return new Promise((resolve) => {
    if (isGranted()) {
      resolve();
      return;
    }
    const finish = (): void => {
      clearTimeout(timer);
      stop();
      resolve();
    };
    const timer = setTimeout(finish, SUBSCRIBE_TIMEOUT_MS);
    const stop = useStore.subscribe(() => {
      if (isGranted()) finish();
    });
  });
}
