import type { Broker, Log } from '@apus/broker';
import type { AliasMemory, TrafficMeter } from '@apus/door';
import type { Cluster } from './cluster.ts';
import type { NodeLimits } from './limits.ts';
import type { LongWork } from './long-work.ts';
import type { NodeLink } from './node-link.ts';
import type { OutboundContext } from './outbound-buffer.ts';
import type { Places } from './places.ts';
import type { LinkRateContext } from './quotas/link-rate.ts';
import type { ReadingContext } from './reading.ts';
import type { TcpStreamOptions } from './tcp-stream.ts';
import type { WebSocketOptions } from './web-socket/web-socket.ts';

/** The parts that all links of a node share. */
export interface LinkContext extends ReadingContext, OutboundContext, LinkRateContext {
  readonly broker: Broker;
  readonly log: Log;
  readonly meter: TrafficMeter;
  readonly limits: LinkLimits;
  readonly memory: AliasMemory;
  readonly longWork: LongWork;
  readonly places: Pick<Places, 'establish'>;
  readonly transport: WebSocketOptions & TcpStreamOptions;
  /** Absent: this process serves all of its clients itself. */
  readonly cluster?: LinkCluster | undefined;
  /** Messages wait for a disk or for other processes: a publisher's next ones are accepted meanwhile. */
  readonly acceptsAhead: boolean;
  /** Called once, when the network connection is gone. */
  readonly ended: (link: NodeLink) => void;
}

export type LinkCluster = Pick<Cluster, 'takeClient' | 'leaveClient' | 'forward' | 'me' | 'others'>;

type LinkLimits = Pick<NodeLimits, 'connectBytesMax' | 'inboundBufferBytesMax' | 'outboundBufferBytesMax'> & {
  readonly maximumPacketSize: number;
};
