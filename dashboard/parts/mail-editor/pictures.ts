import { call, type ResponseOf } from '../../api/client.ts';

export type Picture = ResponseOf<'uploadAsset'>;

const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** What mails are wide: a larger picture is shown this wide, and stays sharp on fine screens. */
const MAIL_WIDTH_PX = 600;

/** The pictures among what was dropped. The API has the last word, by their bytes. */
export function picturesIn(data: DataTransfer | null): File[] {
  return [...(data?.files ?? [])].filter(({ type }) => TYPES.includes(type));
}

/**
 * The pictures that are meant by what was pasted. Spreadsheets and word processors put a picture of the words beside
 * them, and then the words are meant; a file from a folder has its name as plain text alone.
 */
export function picturesPasted(data: DataTransfer | null): File[] {
  const isOfWords = ['text/html', 'text/plain'].every((type) => data?.types.includes(type));
  return isOfWords ? [] : picturesIn(data);
}

/** Keeps a picture; the same one again is not kept twice. @throws ApiFailure */
export function uploadPicture(file: File): Promise<Picture> {
  const body = new FormData();
  body.append('file', file, file.name);
  return call('uploadAsset', { body });
}

/** The tag that shows it: its sides said, so that nothing jumps while it loads, and no wider than a phone. */
export function pictureTag(picture: Pick<Picture, 'url' | 'width' | 'height' | 'filename'>): string {
  const width = Math.min(picture.width, MAIL_WIDTH_PX);
  const height = Math.round((picture.height * width) / picture.width);
  const alt = escapeAttribute(altOf(picture.filename));
  const src = escapeAttribute(picture.url);
  return `<img src="${src}" width="${width}" height="${height}" alt="${alt}" style="display:block;max-width:100%;height:auto;border:0">`;
}

/** A name such as `spring-sale.png` said as words; nothing of what cameras call their pictures. */
export function altOf(filename: string | null): string {
  const name = (filename ?? '')
    .replace(/\.\w+$/, '')
    .replaceAll(/[-_]+/g, ' ')
    .trim();
  return /^(image|img|dsc|pict|screenshot|photo)?[\s\d()]*$/i.test(name) ? '' : name;
}

function escapeAttribute(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
