import { Center, Loader } from '@mantine/core';

/** Shown until the content has been loaded. */
export function Loading() {
  return (
    <Center h="100%" p="sm">
      <Loader size="sm" role="status" aria-label="Loading …" />
    </Center>
  );
}
