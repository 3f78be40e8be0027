import type { Awaitable, Message, Outlet } from '@apus/broker';

/** An outlet of several: each that wants the message has to take it. */
export function takeAll(
  outlets: Iterable<Outlet>,
  tenant: string,
  message: Message,
  isAnswered: boolean,
): Awaitable<boolean> | undefined {
  let all: Awaitable<boolean> | undefined;
  for (const outlet of outlets) {
    const taken = outlet.take(tenant, message, isAnswered);
    if (taken !== undefined) all = all === undefined ? taken : both(all, taken);
  }
  return all;
}

async function both(one: Awaitable<boolean>, other: Awaitable<boolean>): Promise<boolean> {
  const [isOne, isOther] = await Promise.all([one, other]);
  return isOne && isOther;
}
