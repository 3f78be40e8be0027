export {
  type LatestMessages,
  type Me,
  type Messages,
  type PresentMembers,
  type Subscribed,
  useConnection,
  useLatest,
  useMessages,
  usePresence,
  usePublish,
} from './hooks.ts';
export type { Message, UserProperties } from './message.ts';
export { MqttProvider, type MqttProviderProps } from './provider.ts';
export type { Connect, Connection, Payload, PublishOptions } from './shared-client.ts';
export type { SubscribeOptions } from './subscription.ts';
