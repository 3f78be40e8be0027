import { Button, Center, EmptyState } from '@mantine/core';
import { IconPlugConnected } from '@tabler/icons-react';
import { useStore } from '../../state/store.ts';

/** Shown by a view of a connection if there is none. */
export function EmptyConnection() {
  const add = (): void => useStore.setState({ question: { type: 'new' } });
  return (
    <Center p="md">
      <EmptyState
        icon={<IconPlugConnected />}
        title="No connection yet"
        description="Tell the client where your broker is."
      >
        <Button onClick={add}>New connection</Button>
      </EmptyState>
    </Center>
  );
}
