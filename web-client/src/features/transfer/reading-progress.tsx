import { Progress, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { formatBytes, formatExact } from '../../ui/format.ts';
import type { ReadProgress } from './read-file.ts';

/** How far the reading of a file is. */
export function ReadingProgress({ progress }: { readonly progress: ReadProgress }) {
  const words = useWords();
  const told = words(progress);
  const isMeasured = progress.phase !== 'parsing' && progress.total > 0;
  return (
    <>
      <Progress.Root size="sm">
        <Progress.Section
          value={isMeasured ? (progress.done * 100) / progress.total : 100}
          striped={!isMeasured}
          animated={!isMeasured}
          aria-label={told}
        />
      </Progress.Root>
      <Text size="xs" c="dimmed" mt={4}>
        {told}
      </Text>
    </>
  );
}

function useWords(): (progress: ReadProgress) => string {
  const { t } = useTranslation();
  return (progress) => {
    if (progress.phase === 'parsing') return t('transfer.readingPhases.parsing');
    const write = progress.phase === 'bytes' ? formatBytes : formatExact;
    return t(`transfer.readingPhases.${progress.phase}`, {
      done: write(progress.done),
      total: write(progress.total),
    });
  };
}
