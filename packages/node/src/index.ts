export { NODE_NAME } from '@apus/api';
export type { ApiAnswer } from '@apus/door';
export { type Scheduler, systemScheduler } from '@apus/door';
export { openChain } from './auth/access.ts';
export type {
  Backlog,
  BacklogCounts,
  BacklogRoom,
  BridgesContext,
  DeadLetter,
  DeadLetters,
  LocalSession,
  LocalSessionOptions,
  OpenBridges,
  Portion,
  RunningBridges,
  RunningRules,
  TenantFilter,
  Waiting,
} from './bridges/bridges.ts';
export { type LocalHandler, type LocalLink, LocalLinkEnded } from './bridges/local-link.ts';
export { takeAll } from './bridges/take-all.ts';
export type {
  Cluster,
  ClusterContext,
  ClusterNode,
  ForwardedClient,
  OpenCluster,
  PeerRequest,
} from './cluster.ts';
export type { GatewayContext, GatewayDoor } from './gateway.ts';
export { DEFAULT_NODE_LIMITS, NODE_LIMIT_RANGES, type NodeLimits } from './limits.ts';
export { cannotListen } from './listen.ts';
export type { CertificateFiles } from './listening/certificates.ts';
export { type ListenAddress, parseListenAddress } from './listening/listen-address.ts';
export {
  LOG_FORMATS,
  LOG_LEVELS,
  type LogEntry,
  type LogLevel,
  type LogSink,
  NodeLog,
  stderrSink,
} from './log.ts';
export type { NodeOptions } from './options.ts';
export { Places, type PlacesOptions } from './places.ts';
export { StartError } from './start-error.ts';
export { type RunningNode, startNode } from './start-node.ts';
export type { NodeTopics } from './topics.ts';
export type { TracesOptions } from './traces.ts';
export type { ForwardedWire } from './transport.ts';
export { USAGE_INTERVAL_SECONDS } from './usage/node-usage.ts';
export type { UsageJournal } from './usage/usage-journal.ts';
