import type { Emulator } from '@apus/emulator';
import { type NodeOptions, type RunningNode, startNode } from '@apus/node';
import { readSecret } from './aws/secret.ts';
import { type EmulatedGatewayDoor, startGatewayDoor } from './gateway/gateway-door.ts';

/** Options of `startDoors`: those of the node, and the gateway door's. */
export interface DoorsOptions extends Omit<NodeOptions, 'openGateway'> {
  /**
   * Opens the gateway door too, at this port of the same host: the Lambda handlers behind an emulator of API Gateway.
   * 0: any free port.
   * @default none
   */
  readonly gatewayPort?: number | undefined;
  /**
   * Seconds that the will of a lost connection of the gateway door waits at least, as its DISCONNECT may still be in
   * progress. Tests shorten it.
   * @default 5
   */
  readonly gatewayLossGraceSeconds?: number | undefined;
}

/** A broker that runs in this process, with its doors. */
export interface RunningDoors extends RunningNode {
  /** The gateway door, if the options ask for one: clients need the Apus transport there. */
  readonly gateway: { readonly url: string; readonly emulator: Emulator } | undefined;
}

/**
 * Starts a node, and the gateway door beside it, as `apus serve` does.
 *
 * @throws {StartError} if it cannot listen, or must not with these options
 */
export async function startDoors({
  gatewayPort: port,
  gatewayLossGraceSeconds: lossGraceSeconds,
  ...options
}: DoorsOptions = {}): Promise<RunningDoors> {
  let gateway: EmulatedGatewayDoor | undefined;
  const node = await startNode({
    readSecret,
    ...options,
    openGateway:
      port === undefined
        ? undefined
        : async (context) => {
            gateway = await startGatewayDoor({ port, lossGraceSeconds }, context);
            return gateway;
          },
  });
  return { ...node, gateway };
}
