import type {
  BanFacts,
  ClientFacts,
  FigureFacts,
  ReadingFacts,
  RetainedFacts,
  SubscriptionFacts,
} from '@apus/api';
import { banFacts } from './bans.ts';
import { clientFacts } from './clients.ts';
import { figureFacts } from './figures.ts';
import { messageFacts } from './messages.ts';
import type { ApiSources } from './sources.ts';
import { subscriptionFacts } from './subscriptions.ts';

/** What a process can answer that has its stores in memory: clients, subscriptions, messages, bans and figures. */
export type HeldFacts = ClientFacts &
  SubscriptionFacts &
  BanFacts &
  RetainedFacts &
  ReadingFacts &
  FigureFacts;

export function heldFacts(sources: ApiSources): HeldFacts {
  return {
    ...clientFacts(sources),
    ...subscriptionFacts(sources),
    ...banFacts(sources),
    ...messageFacts(sources),
    ...figureFacts(sources),
  };
}
