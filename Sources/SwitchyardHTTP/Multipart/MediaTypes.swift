/// Media types by file name extension.
///
/// The library has its own table, so that the result is the same on Linux and Apple systems. Most types are
/// registered with IANA. The type for an unknown extension is `application/octet-stream`.
package enum MediaTypes {
    /// Returns the media type for a file name.
    package static func type(ofFile name: String) -> String {
        guard let dot = name.utf8.lastIndex(of: UInt8(ascii: ".")), dot != name.startIndex else {
            return "application/octet-stream"
        }
        return type(forExtension: String(name[name.utf8.index(after: dot)...]))
    }

    /// Returns the media type for an extension without its dot, in any case.
    package static func type(forExtension pathExtension: String) -> String {
        known(forExtension: pathExtension) ?? "application/octet-stream"
    }

    static func known(forExtension pathExtension: String) -> String? {
        table[pathExtension.lowercased()]
    }

    private static let table: [String: String] = [
        "7z": "application/x-7z-compressed", "aac": "audio/aac", "aif": "audio/x-aiff", "aiff": "audio/x-aiff",
        "apk": "application/vnd.android.package-archive", "apng": "image/apng", "avi": "video/x-msvideo",
        "avif": "image/avif", "bin": "application/octet-stream", "bmp": "image/bmp", "bz2": "application/x-bzip2",
        "caf": "audio/x-caf", "cer": "application/x-x509-ca-cert", "crt": "application/x-x509-ca-cert",
        "css": "text/css", "csv": "text/csv", "der": "application/x-x509-ca-cert", "doc": "application/msword",
        "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
        "epub": "application/epub+zip", "flac": "audio/flac", "gif": "image/gif", "gz": "application/gzip",
        "heic": "image/heic", "heif": "image/heif", "htm": "text/html", "html": "text/html",
        "ico": "image/vnd.microsoft.icon", "ics": "text/calendar", "ipa": "application/octet-stream",
        "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript", "json": "application/json",
        "jsonl": "application/jsonl", "key": "application/vnd.apple.keynote", "m3u8": "application/vnd.apple.mpegurl",
        "m4a": "audio/mp4", "m4v": "video/x-m4v", "md": "text/markdown", "mid": "audio/midi", "midi": "audio/midi",
        "mjs": "text/javascript", "mka": "audio/x-matroska", "mkv": "video/x-matroska", "mov": "video/quicktime",
        "mp3": "audio/mpeg", "mp4": "video/mp4", "mpeg": "video/mpeg", "mpg": "video/mpeg", "oga": "audio/ogg",
        "ogg": "audio/ogg", "ogv": "video/ogg", "opus": "audio/ogg", "otf": "font/otf", "p12": "application/x-pkcs12",
        "pdf": "application/pdf", "pem": "application/x-pem-file", "plist": "application/x-plist", "png": "image/png",
        "ppt": "application/vnd.ms-powerpoint",
        "pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
        "ps": "application/postscript", "psd": "image/vnd.adobe.photoshop", "rar": "application/vnd.rar",
        "rtf": "application/rtf", "svg": "image/svg+xml", "swift": "text/x-swift", "tar": "application/x-tar",
        "tif": "image/tiff", "tiff": "image/tiff", "toml": "application/toml", "ts": "video/mp2t", "ttf": "font/ttf",
        "txt": "text/plain", "usdz": "model/vnd.usdz+zip", "vcf": "text/vcard", "wasm": "application/wasm",
        "wav": "audio/wav", "weba": "audio/webm", "webm": "video/webm", "webp": "image/webp", "woff": "font/woff",
        "woff2": "font/woff2", "xhtml": "application/xhtml+xml", "xls": "application/vnd.ms-excel",
        "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "xml": "application/xml",
        "yaml": "application/yaml", "yml": "application/yaml", "zip": "application/zip", "zst": "application/zstd",
    ]
}
