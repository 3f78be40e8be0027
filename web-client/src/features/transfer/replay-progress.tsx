import { Button, Group, Progress, Text } from '@mantine/core';
import { IconPlayerStop } from '@tabler/icons-react';
import { useTranslation } from 'react-i18next';
import { formatCount } from '../../ui/format.ts';
import { troubleSentence, useTrouble } from '../../ui/trouble.ts';
import type { RunningReplay } from './transfer-store.ts';

/** How far a replay is, what failed, and how to stop it. */
export function ReplayProgressBar({ replay: { progress, stop } }: { readonly replay: RunningReplay }) {
  const { t } = useTranslation();
  const words = useTrouble();
  const { total, sent, failed, firstTrouble, state } = progress;
  const shown = state === 'done' && failed > 0 ? 'doneWithFailures' : state;
  const told = t('transfer.progress', { sent: formatCount(sent), total: formatCount(total) });
  return (
    <>
      <Progress.Root size="sm" mt="sm">
        <Progress.Section value={(sent * 100) / total} aria-label={told} />
        <Progress.Section value={(failed * 100) / total} color="red" aria-hidden />
      </Progress.Root>
      <Group justify="space-between" gap="xs" mt={6}>
        <Text size="xs" role="status">
          {`${told}. ${t(`transfer.states.${shown}`)}`}
        </Text>
        {state === 'running' && (
          <Button
            variant="default"
            size="compact-xs"
            leftSection={<IconPlayerStop size={12} stroke={1.5} />}
            onClick={stop}
          >
            {t('transfer.stop')}
          </Button>
        )}
      </Group>
      {failed > 0 && firstTrouble !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)" mt={4}>
          {t('transfer.failed', { count: failed, why: troubleSentence(words(firstTrouble)) })}
        </Text>
      )}
    </>
  );
}
