import { useClipboard } from '@mantine/hooks';
import { IconCheck, IconCopy } from '@tabler/icons-react';
import { IconButton } from './icon-button.tsx';

interface CopyButtonProps {
  /** The text, or a function that makes it on demand. */
  readonly text: string | (() => string);
  readonly label?: string;
}

export function CopyButton({ text, label }: CopyButtonProps) {
  const { copy, copied } = useClipboard({ timeout: 1_500 });
  const Icon = copied ? IconCheck : IconCopy;
  return (
    <IconButton
      label={copied ? 'Copied' : (label ?? 'Copy')}
      onClick={() => copy(typeof text === 'string' ? text : text())}
    >
      <Icon size={16} stroke={1.5} />
    </IconButton>
  );
}
