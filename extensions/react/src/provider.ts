import { createContext, createElement, type ReactNode, useContext, useEffect, useState } from 'react';
import { type Connect, SharedClient } from './shared-client.ts';

const Context = createContext<SharedClient | undefined>(undefined);

export interface MqttProviderProps {
  /**
   * Makes the connection, with `protocolVersion: 5`: `mqtt.connect`, or `connect` of @apus/client. The provider calls
   * it when the first component needs a connection, and again when a component needs one after the last one has gone.
   * It keeps the function of the first render. It passes a function for the event `gap` of @apus/client's transport
   * (`onEvent`).
   */
  readonly connect: (onEvent: (event: { readonly type: string }) => void) => ReturnType<Connect>;
  readonly children?: ReactNode;
}

/** Shares one MQTT connection among all components below it. The connection ends with the last of them. */
export function MqttProvider({ connect, children }: MqttProviderProps): ReactNode {
  const [client] = useState(() => {
    const shared: SharedClient = new SharedClient(() =>
      connect(({ type }) => {
        if (type === 'gap') shared.refreshPresence();
      }),
    );
    return shared;
  });
  return createElement(Context.Provider, { value: client }, children);
}

/** @throws Error outside of an `MqttProvider` */
export function useSharedClient(): SharedClient {
  const client = useContext(Context);
  if (client === undefined)
    throw new Error('@apus/react: this hook needs an <MqttProvider> above its component.');
  return client;
}

/** The connection stays open while the component is mounted. */
export function useHold(client: SharedClient): void {
  useEffect(() => client.hold(), [client]);
}
