import { IconX } from '@tabler/icons-react';
import { useEffect, useRef } from 'react';
import { IconButton } from './icon-button.tsx';

/** Closes the details beside a list, as Escape does in them. The list gets the focus that was in them. */
export function CloseDetails({ close }: { readonly close: () => void }) {
  const button = useRef<HTMLButtonElement>(null);
  const leave = (): void => {
    const aside = document.activeElement?.closest('aside');
    aside?.parentElement?.querySelector<HTMLElement>('[role="grid"], [role="tree"]')?.focus();
    close();
  };
  useEffect(() => {
    const pressed = ({ key, target, defaultPrevented }: KeyboardEvent): void => {
      const isInside = target instanceof Node && button.current?.closest('aside')?.contains(target) === true;
      if (key === 'Escape' && isInside && !defaultPrevented) leave();
    };
    document.addEventListener('keydown', pressed);
    return () => document.removeEventListener('keydown', pressed);
  });
  return (
    <IconButton ref={button} label="Close the details" onClick={leave}>
      <IconX size={16} stroke={1.5} />
    </IconButton>
  );
}
