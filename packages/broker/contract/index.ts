export { linkStoreContract } from './links.ts';
export { QueueReceiver } from './queue-receiver.ts';
export { queueStoreContract } from './queues.ts';
export { receivedStoreContract } from './received.ts';
export { retainedStoreContract } from './retained.ts';
export { sessionStoreContract } from './sessions.ts';
export { storesContract } from './stores.ts';
export { subscriptionStoreContract } from './subscriptions.ts';
export type { ContractOptions, MakeStores } from './support.ts';
