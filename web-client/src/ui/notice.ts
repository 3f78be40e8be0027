import { create } from 'zustand';

/** An event that is shown until it is closed or replaced. */
export interface Notice {
  readonly kind: 'done' | 'failed';
  readonly text: string;
  /** The view that shows the result. The notice is removed when another view is opened. */
  readonly link?: { readonly href: string; readonly text: string };
}

export const useNotice = create<{ readonly notice: Notice | undefined }>(() => ({ notice: undefined }));

export function say(notice: Notice | undefined): void {
  useNotice.setState({ notice });
}
