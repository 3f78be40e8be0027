import { Alert, Text } from '@mantine/core';
import { IconAlertTriangle } from '@tabler/icons-react';
import type { Trouble } from '../../engine/types.ts';
import { troubleWords } from '../../ui/trouble.ts';

/** An error: a title, advice, and the server's own message. */
export function TroubleAlert({ trouble }: { readonly trouble: Trouble }) {
  const { title, advice, detail } = troubleWords(trouble);
  return (
    <Alert color="red" variant="light" icon={<IconAlertTriangle />} title={title} mb="md" role="alert" p="sm">
      {advice !== '' && <Text size="sm">{advice}</Text>}
      {detail !== '' && (
        <Text size="xs" ff="monospace" mt={4}>
          {detail}
        </Text>
      )}
    </Alert>
  );
}
