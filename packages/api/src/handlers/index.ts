import type { Handler } from '../handler.ts';
import type { OperationId } from '../operations/index.ts';
import { type BanFacts, banHandlers } from './bans.ts';
import { type ClientFacts, clientHandlers } from './clients.ts';
import { eventHandlers } from './events.ts';
import { type FigureFacts, figureHandlers } from './figures.ts';
import { type ReadingFacts, type RetainedFacts, readingHandlers, retainedHandlers } from './messages.ts';
import { type ObservingFacts, observingHandlers } from './observing.ts';
import { type SubscriptionFacts, subscriptionHandlers } from './subscriptions.ts';
import { type SystemFacts, systemHandlers } from './systems.ts';
import { type TenantFacts, tenantHandlers } from './tenants.ts';
import { type UserFacts, userHandlers } from './users.ts';

/** The port of the API: what a door can answer. */
export interface Facts
  extends ClientFacts,
    SubscriptionFacts,
    BanFacts,
    RetainedFacts,
    ReadingFacts,
    TenantFacts,
    UserFacts,
    FigureFacts,
    ObservingFacts,
    SystemFacts {}

/** Messages come in and are answered as they do at the URL of backends: each door has that endpoint. */
type Published = 'publish' | 'publishBulk';

/** The handler of each operation. */
export const HANDLERS = {
  ...clientHandlers,
  ...subscriptionHandlers,
  ...banHandlers,
  ...eventHandlers,
  ...retainedHandlers,
  ...readingHandlers,
  ...tenantHandlers,
  ...userHandlers,
  ...figureHandlers,
  ...observingHandlers,
  ...systemHandlers,
} satisfies Readonly<Record<Exclude<OperationId, Published>, Handler<Facts>>>;
