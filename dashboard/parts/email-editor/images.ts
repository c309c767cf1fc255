import { callApi, type ResponseOf } from '../../api/client.ts';

export type UploadedImage = ResponseOf<'uploadAsset'>;

const TYPES = ['image/png', 'image/jpeg', 'image/gif', 'image/webp'];
/** Usual width of emails. A larger image is shown at this width, and stays sharp on high-resolution screens. */
const EMAIL_WIDTH_PX = 600;

/** Returns the images among dropped files. The API checks them again by their bytes. */
export function findImages(data: DataTransfer | null): File[] {
  return [...(data?.files ?? [])].filter(({ type }) => TYPES.includes(type));
}

/**
 * Returns the images of a paste. Spreadsheets and word processors add an image of the copied text. Such a paste has
 * HTML and plain text: its text is pasted, and its image is ignored. A copied image file has no HTML.
 */
export function findPastedImages(data: DataTransfer | null): File[] {
  const isCopiedText = ['text/html', 'text/plain'].every((type) => data?.types.includes(type));
  return isCopiedText ? [] : findImages(data);
}

/**
 * Uploads an image. The same image is stored only once.
 * @throws ApiFailure
 */
export function uploadImage(file: File): Promise<UploadedImage> {
  const body = new FormData();
  body.append('file', file, file.name);
  return callApi('uploadAsset', { body });
}

/**
 * Returns the tag of an image. The tag sets width and height, so that the layout does not jump while the image loads.
 * Its style limits the image to the width of the element around it, such as on a phone.
 */
export function createImageTag(image: Pick<UploadedImage, 'url' | 'width' | 'height' | 'filename'>): string {
  const width = Math.min(image.width, EMAIL_WIDTH_PX);
  const height = Math.round((image.height * width) / image.width);
  const alt = escapeAttribute(suggestAltText(image.filename));
  const src = escapeAttribute(image.url);
  return `<img src="${src}" width="${width}" height="${height}" alt="${alt}" style="display:block;max-width:100%;height:auto;border:0">`;
}

/** Returns an alt text for a name such as `spring-sale.png`; empty for a name from a camera, such as `IMG_0123.jpg`. */
export function suggestAltText(filename: string | null): string {
  const name = (filename ?? '')
    .replace(/\.\w+$/, '')
    .replaceAll(/[-_]+/g, ' ')
    .trim();
  return /^(image|img|dsc|pict|screenshot|photo)?[\s\d()]*$/i.test(name) ? '' : name;
}

function escapeAttribute(value: string): string {
  return value.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}
