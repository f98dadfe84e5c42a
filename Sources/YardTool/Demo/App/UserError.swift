import Switchyard

/// The errors of the users module, in addition to the errors that every call can have.
enum UserError: Int, ModuleErrorCode {
    case userNotFound = 1001
    case nameTaken = 1002

    var texts: [MessageLanguage: String] {
        switch self {
        case .userNotFound: [.english: "There is no such user.", .simplifiedChinese: "用户不存在"]
        case .nameTaken: [.english: "That name is taken.", .simplifiedChinese: "用户名已被占用"]
        }
    }
}
