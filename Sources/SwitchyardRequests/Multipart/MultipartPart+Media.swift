public import Foundation
public import SwitchyardHTTP

/// Parts with images and recordings.
extension MultipartPart {
    /// Returns a part with a PNG image in memory.
    public static func png(_ data: Data, name: String, fileName: String = "image") -> MultipartPart {
        .data(data, name: name, fileName: fileName.withExtension("png"), contentType: "image/png")
    }

    /// Returns a part with a JPEG image in memory.
    public static func jpeg(_ data: Data, name: String, fileName: String = "image") -> MultipartPart {
        .data(data, name: name, fileName: fileName.withExtension("jpg"), contentType: "image/jpeg")
    }

    /// Returns a part with an MP3 recording in memory.
    public static func mp3(_ data: Data, name: String, fileName: String = "audio") -> MultipartPart {
        .data(data, name: name, fileName: fileName.withExtension("mp3"), contentType: "audio/mpeg")
    }
}

extension String {
    /// Returns the file name with the extension, which is appended only if it is missing.
    fileprivate func withExtension(_ pathExtension: String) -> String {
        let known = pathExtension == "jpg" ? ["jpg", "jpeg"] : [pathExtension]
        return known.contains { lowercased().hasSuffix(".\($0)") } ? self : "\(self).\(pathExtension)"
    }
}
